// Buffer's internal conversions, without the argument handling of `toString` and `write`.

export interface FastBuffer extends Buffer {
  utf8Slice(start: number, end: number): string;
  base64Slice(start: number, end: number): string;
  utf8Write(text: string, at: number, length: number): number;
}

export const allocate = (size: number): FastBuffer => Buffer.allocUnsafeSlow(size) as FastBuffer;

/** Returns a view of the same memory. */
export const viewOf = (bytes: Uint8Array): FastBuffer =>
  (Buffer.isBuffer(bytes)
    ? bytes
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)) as FastBuffer;
