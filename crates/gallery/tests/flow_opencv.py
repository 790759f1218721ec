"""OpenCV's flow of two frames, against the true one.

Takes two PNG files and one of floats (u of all pixels, then v); prints a line a method: its name, the mean end-point
error in pixels and the milliseconds. Ends with code 77 where OpenCV is missing.
"""

import sys
import time

try:
    import cv2
    import numpy as np
except ImportError as why:
    print(why)
    sys.exit(77)


def measured(make, times):
    """The result, and the middle one of so many times in milliseconds."""
    spent = []
    for _ in range(times):
        start = time.perf_counter()
        result = make()
        spent.append(time.perf_counter() - start)
    return result, sorted(spent)[times // 2] * 1e3


first, second = (cv2.imread(path, cv2.IMREAD_GRAYSCALE) for path in sys.argv[1:3])
height, width = first.shape
truth = np.fromfile(sys.argv[3], "<f4").reshape(2, height, width).transpose(1, 2, 0)
grid = np.stack(np.meshgrid(np.arange(width), np.arange(height)), axis=2).astype(np.float32)


def lucas_kanade():
    """OpenCV's sparse method at every pixel."""
    points = grid.reshape(-1, 1, 2)
    found, _, _ = cv2.calcOpticalFlowPyrLK(first, second, points, None, winSize=(9, 9), maxLevel=4)
    return found.reshape(height, width, 2) - grid


dis = cv2.DISOpticalFlow_create(cv2.DISOPTICAL_FLOW_PRESET_MEDIUM)
methods = [
    ("dis", lambda: dis.calc(first, second, None), 5),
    ("farneback", lambda: cv2.calcOpticalFlowFarneback(first, second, None, 0.5, 5, 15, 3, 5, 1.2, 0), 3),
    ("lk", lucas_kanade, 1),
]
for name, make, times in methods:
    flow, spent = measured(make, times)
    error = np.linalg.norm(flow - truth, axis=2).mean()
    print(f"{name} {error:.5f} {spent:.3f}")
