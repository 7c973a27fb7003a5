/** Of the disk that has images and Pods. Below it the node is under DiskPressure, and Pods that fill it are ended. */
export const leastFreeDiskShare = 0.1;
