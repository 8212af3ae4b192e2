include(${CMAKE_CURRENT_LIST_DIR}/debug.cmake)
set(CUWARD_SANITIZE "thread" CACHE STRING "")
