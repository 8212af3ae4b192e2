"""An innocent training loop: a small transformer, Adam, data made on the spot, and a side stream for the uploads.
Prints every loss and a checksum of the parameters, the same on every run."""

import os

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")

import torch  # noqa: E402

torch.manual_seed(0)
torch.use_deterministic_algorithms(True)
device = torch.device("cuda")
layer = torch.nn.TransformerEncoderLayer(d_model=128, nhead=4, dim_feedforward=256, dropout=0.0, batch_first=True)
model = torch.nn.Sequential(torch.nn.TransformerEncoder(layer, num_layers=2), torch.nn.Linear(128, 10)).to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
upload = torch.cuda.Stream()


def next_batch():
    inputs = torch.randn(4, 32, 128).pin_memory()
    targets = torch.randint(0, 10, (4 * 32,)).pin_memory()
    with torch.cuda.stream(upload):
        batch = inputs.to(device, non_blocking=True), targets.to(device, non_blocking=True)
    torch.cuda.current_stream().wait_stream(upload)
    for tensor in batch:
        tensor.record_stream(torch.cuda.current_stream())
    return batch


for step in range(20):
    inputs, targets = next_batch()
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(inputs).flatten(0, 1), targets)
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.6f}")
print(f"checksum {sum(parameter.double().sum().item() for parameter in model.parameters()):.9f}")
