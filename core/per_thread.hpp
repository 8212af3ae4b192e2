// One object of a type for each thread, freed when the thread ends.
#pragma once

#include <pthread.h>

#include <memory>

namespace cuward {

/// Unlike a thread_local object it can be used to the very end of the thread: destructors of the
/// program's thread_local objects may still call CUDA, and what they need is made anew and freed
/// too. Reaching it costs one load.
template <typename T>
class PerThread {
  public:
    /// Null until `get` has been called.
    static T* find() { return object_; }

    static T& get() {
        if (object_ == nullptr) {
            make();
        }
        return *object_;
    }

  private:
    static void make() {
        auto object = std::make_unique<T>();
        // Destructors of keys run after those of thread_local objects, again for values set anew
        // (pthread_key_create(3)). Without a key the object just lives on.
        static const Key key;
        if (key.made) {
            pthread_setspecific(key.key, object.get());
        }
        object_ = object.release();
    }

    static void end(void* object) {
        object_ = nullptr;
        delete static_cast<T*>(object);
    }

    struct Key {
        pthread_key_t key{};
        const bool made = pthread_key_create(&key, end) == 0;
    };

    static inline constinit thread_local T* object_ = nullptr;
};

}  // namespace cuward
