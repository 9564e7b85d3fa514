// Buffers a request body as it arrives. Small chunks are copied together: a chunk that is a slice of a larger
// buffer would keep all of it alive, and a million chunks of one byte would need more memory than their
// content.

const none = new Uint8Array(0);
/** A chunk that is at least this fraction of its buffer, and this long, is kept without copying. */
const keptShare = 4;
const keptBytes = 4096;
const maxCopyBuffer = 64 * 1024;

export class RequestBody {
  private chunks: Uint8Array[] = [];
  /** The last chunk, if it has room for more. */
  private open: Uint8Array | undefined;
  private openBytes = 0;

  add(chunk: Uint8Array): void {
    if (chunk.length >= keptBytes && chunk.length * keptShare >= chunk.buffer.byteLength) {
      this.seal();
      this.chunks.push(chunk);
      return;
    }
    if (this.open && this.open.length - this.openBytes < chunk.length) this.seal();
    if (!this.open) {
      // The first chunk is usually the whole body; later ones are allocated with spare room.
      const spare = this.chunks.length === 0 ? 0 : Math.min(maxCopyBuffer, 1024 * this.chunks.length);
      this.open = Buffer.allocUnsafeSlow(Math.max(chunk.length, spare));
    }
    this.open.set(chunk, this.openBytes);
    this.openBytes += chunk.length;
  }

  /** Returns all bytes and releases them. */
  take(): Uint8Array {
    this.seal();
    const { chunks } = this;
    this.chunks = [];
    return chunks.length === 0 ? none : chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
  }

  private seal(): void {
    if (!this.open) return;
    const used = this.open.subarray(0, this.openBytes);
    this.chunks.push(used.length * 2 < this.open.length ? Uint8Array.from(used) : used);
    this.open = undefined;
    this.openBytes = 0;
  }
}
