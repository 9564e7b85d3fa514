// Builds WebAssembly modules for the inner loops of ciphers, which need 64-bit and vector arithmetic that
// JavaScript lacks (ADR 17 and 18 in docs/adr). Code is a list of bytes; operators take the code of their operands.
// Only the instructions in use are defined.

export type Code = readonly number[];
export type ValueType = "i32" | "i64" | "v128";

const typeCodes: Readonly<Record<ValueType, number>> = { i32: 0x7f, i64: 0x7e, v128: 0x7b };

/** Unsigned LEB128. */
function unsigned(value: number): number[] {
  const bytes: number[] = [];
  for (; value > 0x7f; value >>>= 7) bytes.push((value & 0x7f) | 0x80);
  return [...bytes, value];
}

/** Signed LEB128. */
function signed(value: bigint): number[] {
  const bytes: number[] = [];
  for (;;) {
    const low = Number(value & 0x7fn);
    value >>= 7n;
    if ((value === 0n && low < 0x40) || (value === -1n && low >= 0x40)) return [...bytes, low];
    bytes.push(low | 0x80);
  }
}

type Binary = (left: Code, right: Code) => Code;
const binary =
  (...opcode: number[]): Binary =>
  (left, right) => [...left, ...right, ...opcode];
const vectorOpcode = (opcode: number): number[] => [0xfd, ...unsigned(opcode)];
const loadBy =
  (opcode: readonly number[], alignment: number) =>
  (address: Code, offset = 0): Code => [...address, ...opcode, alignment, ...unsigned(offset)];
const storeBy =
  (opcode: readonly number[], alignment: number) =>
  (address: Code, value: Code, offset = 0): Code => [
    ...address,
    ...value,
    ...opcode,
    alignment,
    ...unsigned(offset),
  ];

export const i32 = {
  constant: (value: number): Code => [0x41, ...signed(BigInt(value | 0))],
  add: binary(0x6a),
  subtract: binary(0x6b),
  lessThan: binary(0x49),
};

export const i64 = {
  constant: (value: bigint): Code => [0x42, ...signed(BigInt.asIntN(64, value))],
  add: binary(0x7c),
  multiply: binary(0x7e),
  and: binary(0x83),
  or: binary(0x84),
  xor: binary(0x85),
  shiftLeft: (value: Code, bits: bigint): Code => [...value, ...i64.constant(bits), 0x86],
  shiftRight: (value: Code, bits: bigint): Code => [...value, ...i64.constant(bits), 0x88],
  /** Compares unsigned numbers; the result is an i32. */
  lessThan: binary(0x54),
  /** Extends an i32 with zeros. */
  extend: (value: Code): Code => [...value, 0xad],
  subtract: binary(0x7d),
  load: loadBy([0x29], 3),
  store: storeBy([0x37], 3),
};

/** Sixteen lanes of 8 bits. */
export const bytes = {
  shiftRight: (value: Code, bits: number): Code => [...value, ...i32.constant(bits), ...vectorOpcode(0x6d)],
  /** Looks up each byte of the second vector among the bytes of the first. All must be below 16: the results of
   * others depend on the processor ("relaxed" SIMD), which saves checking them. */
  lookUp: binary(...vectorOpcode(0x100)),
  /** Picks sixteen bytes of two vectors; those of the second have the numbers 16 to 31. */
  pick: (left: Code, right: Code, numbers: readonly number[]): Code => [
    ...left,
    ...right,
    ...vectorOpcode(0x0d),
    ...numbers,
  ],
};

/** Four lanes of 32 bits. */
export const vector = {
  constant: (words: readonly number[]): Code => [
    ...vectorOpcode(0x0c),
    ...new Uint8Array(Uint32Array.from(words).buffer),
  ],
  /** Loads a 32-bit word into all lanes. */
  splat: loadBy(vectorOpcode(0x09), 2),
  add: binary(...vectorOpcode(0xae)),
  and: binary(...vectorOpcode(0x4e)),
  or: binary(...vectorOpcode(0x50)),
  xor: binary(...vectorOpcode(0x51)),
  shiftLeft: (value: Code, bits: number): Code => [...value, ...i32.constant(bits), ...vectorOpcode(0xab)],
  shiftRight: (value: Code, bits: number): Code => [...value, ...i32.constant(bits), ...vectorOpcode(0xad)],
  /** Picks four words of two vectors; those of the second have the numbers 4 to 7. */
  pick: (left: Code, right: Code, words: readonly number[]): Code =>
    bytes.pick(
      left,
      right,
      words.flatMap((word) => [0, 1, 2, 3].map((byte) => word * 4 + byte)),
    ),
  load: loadBy(vectorOpcode(0x00), 4),
  store: storeBy(vectorOpcode(0x0b), 4),
};

/** Runs the body, and again as long as the condition holds. */
export const repeat = (body: Code, condition: Code): Code => [
  0x03,
  0x40,
  ...body,
  ...condition,
  0x0d,
  0,
  0x0b,
];
/** Runs the body if the condition holds. */
export const when = (condition: Code, body: Code): Code => [...condition, 0x04, 0x40, ...body, 0x0b];

export const get = (local: number): Code => [0x20, ...unsigned(local)];
export const set = (local: number, value: Code): Code => [...value, 0x21, ...unsigned(local)];
/** Returns the value of the first operand if the condition holds, else that of the second. */
export const select = (whenTrue: Code, whenFalse: Code, condition: Code): Code => [
  ...whenTrue,
  ...whenFalse,
  ...condition,
  0x1b,
];

/** An exported function without a result; its parameters, 32-bit integers, are the first locals. */
export class WasmFunction {
  readonly name: string;
  readonly parameters: number;
  readonly #locals: ValueType[] = [];
  readonly #code: number[] = [];

  constructor(name: string, parameters: number) {
    this.name = name;
    this.parameters = parameters;
  }

  locals(type: ValueType, count: number): number[] {
    const first = this.parameters + this.#locals.length;
    for (let at = 0; at < count; at++) this.#locals.push(type);
    return Array.from({ length: count }, (_, at) => first + at);
  }

  add(...code: readonly Code[]): void {
    for (const each of code) for (const byte of each) this.#code.push(byte);
  }

  body(): Code {
    const locals = this.#locals.flatMap((type) => [1, typeCodes[type]]);
    const bytes = [...unsigned(this.#locals.length), ...locals, ...this.#code, 0x0b];
    return [...unsigned(bytes.length), ...bytes];
  }
}

const header = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];
const section = (id: number, items: readonly Code[]): Code => {
  const bytes = [...unsigned(items.length), ...items.flat()];
  return [id, ...unsigned(bytes.length), ...bytes];
};
const named = (name: string, kind: number, index: number): Code => [
  ...unsigned(name.length),
  ...Buffer.from(name),
  kind,
  ...unsigned(index),
];

/** The parts in use; the compiler's library declares them for browsers only. */
interface WebAssemblyApi {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: unknown };
}
const { Module, Instance } = (globalThis as unknown as { readonly WebAssembly: WebAssemblyApi }).WebAssembly;

export interface WasmMemory {
  readonly buffer: ArrayBuffer;
  /** Adds pages; the buffer is replaced. */
  grow(pages: number): number;
}
export const pageBytes = 64 * 1024;

/**
 * Compiles a module that exports the functions and a memory of some pages. The function returned creates instances.
 */
export function compileWasm<Exports>(functions: readonly WasmFunction[], pages: number): () => Exports {
  const compiled = new Module(bytesOf(functions, pages));
  return () => new Instance(compiled).exports as Exports;
}

function bytesOf(functions: readonly WasmFunction[], pages: number): Uint8Array {
  const types = functions.map(({ parameters }) => [
    0x60,
    parameters,
    ...Array.from({ length: parameters }, () => typeCodes.i32),
    0,
  ]);
  return Uint8Array.from([
    ...header,
    ...section(1, types),
    ...section(
      3,
      functions.map((_, at) => unsigned(at)),
    ),
    ...section(5, [[0, ...unsigned(pages)]]),
    ...section(7, [named("memory", 2, 0), ...functions.map(({ name }, at) => named(name, 0, at))]),
    ...section(
      10,
      functions.map((each) => each.body()),
    ),
  ]);
}
