// Gives the memory of buffers back that nobody will read again. Garbage collection finds such a buffer only when
// it looks at all of the heap, and the larger the heap is, the later it does: answers of hundreds of megabytes
// would wait there.
//
// A buffer may share its memory with others: Node lends buffers from a pool, each less than half of it. So what
// takes more than half of its memory has it alone.

/** To free shorter ones one by one is not worth the call. */
const shortest = 16 * 1024;

export function giveBack(buffers: readonly Uint8Array[]): void {
  for (const { buffer, length } of buffers)
    if (length >= shortest && buffer instanceof ArrayBuffer && buffer.byteLength < 2 * length)
      buffer.transfer(0);
}
