// The fixed Huffman code of header compression (RFC 7541, appendix B), decoded four bits at a time.

/**
 * The code length of each byte: `a` is 5, `z` is 30. Codes of equal length are assigned in byte order,
 * shorter codes first.
 */
const lengths =
  "isxxxxxxxtzxxzxxxxxxxxzxxxxxxxxxbffhibdgffdgdbbbaaabbbbbbbcdkbhfibccccccccccccccccccccccdcdioijb" +
  "kabababbbaccbbbabcbaabccccckgjixprpprrrsrssssststtrstssssqrsrsstrqprrssqsrrtqrssqqrqsrssprrrsrrs" +
  "vvporsruvvvwwvtuoqvwwvwtqqvvxwwwptpqrqqsrruuttvsvwvvwwwwwxwwwwwv";

const noByte = 256;

/**
 * The decoding table, with an entry per state and four bits of input: the next state, shifted by ten; a bit
 * that is set if the input may end there; the decoded byte or `noByte`. An entry of -1 is an error.
 */
let steps: Int32Array | undefined;
const mayEnd = 512;

interface Branch {
  readonly state: number;
  /** Valid padding consists of fewer than eight bits, all ones. */
  readonly padding: boolean;
  next: [Branch | number | undefined, Branch | number | undefined];
}

function build(): Int32Array {
  const branches: Branch[] = [];
  const branch = (padding: boolean): Branch => {
    const made: Branch = { state: branches.length, padding, next: [undefined, undefined] };
    branches.push(made);
    return made;
  };
  const root = branch(true);
  const bitsOf = (byte: number): number => lengths.charCodeAt(byte) - 92;
  const order = Array.from({ length: 256 }, (_, byte) => byte).sort((a, b) => bitsOf(a) - bitsOf(b) || a - b);
  let code = 0;
  let length = 0;
  for (const byte of order) {
    code *= 2 ** (bitsOf(byte) - length);
    length = bitsOf(byte);
    let at = root;
    for (let bit = length - 1; bit >= 0; bit--) {
      const way = Math.floor(code / 2 ** bit) % 2;
      if (bit === 0) at.next[way] = byte;
      else at = (at.next[way] ??= branch(at.padding && way === 1 && length - bit < 8)) as Branch;
    }
    code++;
  }
  const table = new Int32Array(branches.length * 16);
  for (const from of branches)
    for (let nibble = 0; nibble < 16; nibble++) table[from.state * 16 + nibble] = step(root, from, nibble);
  return table;
}

function step(root: Branch, from: Branch, nibble: number): number {
  let at = from;
  let found = noByte;
  for (let bit = 3; bit >= 0; bit--) {
    const next = at.next[((nibble >> bit) & 1) as 0 | 1];
    if (next === undefined) return -1;
    if (typeof next === "number") {
      found = next;
      at = root;
    } else at = next;
  }
  return (at.state << 10) | (at.padding ? mayEnd : 0) | found;
}

let scratch = Buffer.allocUnsafeSlow(4096);

/** Decodes a string; returns undefined for an invalid code. */
export function decodeHuffman(bytes: Uint8Array, start: number, end: number): string | undefined {
  const table = (steps ??= build());
  // The shortest code has five bits.
  const maxLength = Math.ceil(((end - start) * 8) / 5);
  if (scratch.length < maxLength) scratch = Buffer.allocUnsafeSlow(maxLength);
  let state = 0;
  let ends = mayEnd;
  let size = 0;
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!;
    const high = table[state * 16 + (byte >> 4)]!;
    if (high < 0) return undefined;
    if ((high & 511) !== noByte) scratch[size++] = high & 511;
    const low = table[(high >> 10) * 16 + (byte & 15)]!;
    if (low < 0) return undefined;
    if ((low & 511) !== noByte) scratch[size++] = low & 511;
    state = low >> 10;
    ends = low & mayEnd;
  }
  return ends ? scratch.toString("latin1", 0, size) : undefined;
}
