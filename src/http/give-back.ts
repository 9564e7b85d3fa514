// Gives the memory of buffers back that nobody will read again. Garbage collection finds such a buffer only when it looks at all
// of the heap, and is the later for it the larger the heap is: answers of hundreds of megabytes would wait there.

/** Shorter ones may share their memory with others. */
const shortest = 16 * 1024;

export function giveBack(buffers: readonly Uint8Array[]): void {
  for (const { buffer, length } of buffers)
    if (length >= shortest && buffer instanceof ArrayBuffer && buffer.byteLength < 2 * length)
      buffer.transfer(0);
}
