// The state file of allocated resources, byte for byte as the kubelet writes it: the checksum is FNV-1a over
// Go's printed form of the same structure, including all fields of quantities.
import { formatQuantity, parseQuantity } from "#base";
import { fnv32a } from "../managers/checkpoints.ts";

export type Amounts = Readonly<Record<string, string>>;

export interface AllocationCheckpoint {
  /** Allocated resources by pod uid and container; null if the container requests nothing. */
  readonly allocations: Readonly<Record<string, Readonly<Record<string, Amounts | null>>>>;
  readonly statuses: Readonly<Record<string, string>>;
}

export function allocationCheckpointText(state: AllocationCheckpoint): string {
  const plain = withPlainAmounts(state);
  const { allocations, statuses } = plain;
  return JSON.stringify({
    ...(Object.keys(allocations).length > 0 && { allocationEntries: sortedDeep(allocations) }),
    ...(Object.keys(statuses).length > 0 && { resizeStatusEntries: sortedDeep(statuses) }),
    checksum: fnv32a(allocationPreimage(plain)),
  });
}

/** Throws if the text is not a checkpoint or its checksum does not match. */
export function parseAllocationCheckpoint(text: string): AllocationCheckpoint {
  const parsed = JSON.parse(text) as {
    allocationEntries?: AllocationCheckpoint["allocations"];
    resizeStatusEntries?: AllocationCheckpoint["statuses"];
    checksum?: number;
  };
  const state = { allocations: parsed.allocationEntries ?? {}, statuses: parsed.resizeStatusEntries ?? {} };
  if (fnv32a(allocationPreimage(withPlainAmounts(state))) !== parsed.checksum)
    throw new Error("checkpoint is corrupted");
  return state;
}

export function allocationPreimage({ allocations, statuses }: AllocationCheckpoint): string {
  const list = (amounts: Amounts | null): string => (amounts === null ? "<nil>" : goMap(amounts, goQuantity));
  return (
    "(*state.PodResourceAllocationCheckpoint){AllocationEntries:(map[string]map[string]v1.ResourceList)" +
    `${goMap(allocations, (containers) => goMap(containers, list))} ` +
    `ResizeStatusEntries:(map[string]v1.PodResizeStatus)${goMap(statuses, (status) => status)} ` +
    "Checksum:(checksum.Checksum)0}"
  );
}

const sorted = <T>(map: Readonly<Record<string, T>>): [string, T][] =>
  Object.entries(map).toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
const goMap = <T>(map: Readonly<Record<string, T>>, print: (value: T) => string): string =>
  `map[${sorted(map)
    .map(([key, value]) => `${key}:${print(value)}`)
    .join(" ")}]`;
const sortedDeep = (value: unknown): unknown =>
  typeof value === "object" && value !== null
    ? Object.fromEntries(sorted(value as Record<string, unknown>).map(([key, of]) => [key, sortedDeep(of)]))
    : value;

/** Maximum number of digits that the Go parser keeps as an int64. */
const maxDigits = 18;
const decimalExponents: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  "": 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};
const binaryUnits = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const amountForm = /^([+-]?)0*(\d*)(?:\.(\d*))?(.*)$/;

interface GoAmount {
  readonly value: bigint;
  readonly scale: number;
  readonly format: string;
}

/** Returns Go's representation of an amount; undefined if it needs arbitrary precision. */
function goAmount(text: string): GoAmount | undefined {
  const [, sign, digits = "", fraction = "", suffix = ""] = amountForm.exec(text) ?? [];
  const number = digits || "0";
  const signed = (value: bigint): bigint => (sign === "-" ? -value : value);
  const binary = binaryUnits.indexOf(suffix);
  if (binary >= 0) {
    const exponent = (binary + 1) * 10;
    const precision = 15 - number.length - Math.trunc(Math.fround((exponent * 3) / 10)) - 1;
    if (fraction !== "" || precision < 0) return undefined;
    return { value: signed(BigInt(number) << BigInt(exponent)), scale: 0, format: "BinarySI" };
  }
  const exponent = /^[eE]([+-]?\d+)$/.exec(suffix)?.[1];
  const power = exponent === undefined ? decimalExponents[suffix] : Number(exponent);
  if (power === undefined || number.length + fraction.length > maxDigits) return undefined;
  const scale = power - fraction.length;
  if (scale < -9) return undefined;
  return {
    value: signed(BigInt(number + fraction)),
    scale,
    format: exponent === undefined ? "DecimalSI" : "DecimalExponent",
  };
}

function goQuantity(text: string): string {
  const { value, scale, format } = goAmount(text)!;
  return (
    `{i:(resource.int64Amount){value:(int64)${value} scale:(resource.Scale)${scale}} ` +
    "d:(resource.infDecAmount){Dec:(*inf.Dec)<nil>} " +
    // For decimal amounts the Go parser caches the text.
    `s:(string)${format === "BinarySI" ? "" : text} Format:(resource.Format)${format}}`
  );
}

/** Rewrites amounts that the Go parser would keep with arbitrary precision so that they fit an int64. */
function withPlainAmounts({ allocations, statuses }: AllocationCheckpoint): AllocationCheckpoint {
  const plain = (text: string): string => {
    if (goAmount(text)) return text;
    const { value, scale } = parseQuantity(text);
    const rounded = formatQuantity({ value, scale, format: "DecimalSI" });
    return goAmount(rounded) ? rounded : "0";
  };
  const of = <T, R>(map: Readonly<Record<string, T>>, change: (value: T) => R): Record<string, R> =>
    Object.fromEntries(Object.entries(map).map(([key, value]) => [key, change(value)]));
  return {
    allocations: of(allocations, (containers) =>
      of(containers, (amounts) => (amounts === null ? null : of(amounts, (text) => plain(String(text))))),
    ),
    statuses,
  };
}
