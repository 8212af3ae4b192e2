"""Times training steps of a small transformer in PyTorch; prints nanoseconds per step, the median."""

import statistics
import sys
import time

import torch

STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 50

torch.manual_seed(0)
layer = torch.nn.TransformerEncoderLayer(d_model=256, nhead=8, dim_feedforward=1024, dropout=0.0, batch_first=True)
model = torch.nn.TransformerEncoder(layer, num_layers=4).cuda()
head = torch.nn.Linear(256, 10).cuda()
parameters = [*model.parameters(), *head.parameters()]
optimizer = torch.optim.Adam(parameters, lr=1e-4, foreach=False, fused=False)
inputs = torch.randn(8, 64, 256, device="cuda")
targets = torch.randint(0, 10, (8 * 64,), device="cuda")


def step():
    optimizer.zero_grad(set_to_none=True)
    loss = torch.nn.functional.cross_entropy(head(model(inputs)).flatten(0, 1), targets)
    loss.backward()
    optimizer.step()


times = []
for i in range(STEPS + 10):
    torch.cuda.synchronize()
    begin = time.perf_counter_ns()
    step()
    torch.cuda.synchronize()
    if i >= 10:
        times.append(time.perf_counter_ns() - begin)
print(f"{statistics.median(times):.1f}")
