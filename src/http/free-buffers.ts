// Frees the memory of buffers that will not be read again. Garbage collection frees such a buffer only in a
// full collection, and the larger the heap, the later that runs: responses of hundreds of megabytes would
// stay in memory until then.
//
// A buffer may share its memory with others: Node allocates small buffers from a pool, each taking less than
// half of it. So a buffer that covers more than half of its memory is its only user.

/** Freeing shorter buffers one by one is not worth the call. */
const minFreedBytes = 16 * 1024;

export function freeBuffers(buffers: readonly Uint8Array[]): void {
  for (const { buffer, length } of buffers)
    if (length >= minFreedBytes && buffer instanceof ArrayBuffer && buffer.byteLength < 2 * length)
      buffer.transfer(0);
}
