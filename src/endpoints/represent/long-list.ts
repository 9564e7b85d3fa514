// Encodes long lists item by item in time slices, so that a list of fifty thousand objects does not delay
// other requests.
//
//   the encoded list without items, split    {"kind":"…List","metadata":{…},"items":[ | ]}
//   and the items inserted in between                                                ^
import { type Caller, TimeSlice } from "#base";
import { type Message, encodeEnvelope, printYaml, protobufCodec, stringifyJson } from "#schema";
import { type CachedObject, itemBytes } from "#watchcache";
import type { Choice } from "./negotiate.ts";

const shortItems = 256;
const shortBytes = 1024 * 1024;
/** The clock is read after each item that is longer: tables and YAML take more time than copying bytes. */
const longItemBytes = 16 * 1024;

/** Reports whether a list is encoded at once. */
export function isShortList(items: readonly CachedObject[]): boolean {
  if (items.length > shortItems) return false;
  let size = 0;
  for (const item of items) size += itemBytes(item);
  return size <= shortBytes;
}

export interface LongList {
  /** The list with an empty array of items (or rows). */
  readonly empty: { readonly kind: string; readonly apiVersion: string };
  readonly listSchema: Message;
  readonly itemSchema: Message;
  readonly item: (cached: CachedObject) => unknown;
}

export async function longList(
  items: readonly CachedObject[],
  list: LongList,
  choice: Choice,
  magic: Uint8Array,
  caller?: Caller,
): Promise<readonly Uint8Array[]> {
  const form =
    choice.media === "protobuf"
      ? binary(list, magic)
      : choice.media === "yaml"
        ? yaml(list)
        : json(list, choice.pretty);
  const parts: Uint8Array[] = [];
  let gathered: (string | Uint8Array)[] = [];
  const join = (): void => {
    if (gathered.length > 0)
      parts.push(
        typeof gathered[0] === "string"
          ? Buffer.from(gathered.join(""))
          : Buffer.concat(gathered as Uint8Array[]),
      );
    gathered = [];
  };
  const work = new TimeSlice(caller);
  for (const [at, cached] of items.entries()) {
    if (at > 0) gathered.push(form.between);
    gathered.push(form.encode(list.item(cached)));
    if (!(itemBytes(cached) > longItemBytes ? work.expired : work.tick())) continue;
    join();
    await work.yield();
  }
  join();
  return form.around(parts);
}

/** Memory of this size is reused for the next list; for larger pieces, the kernel would map and clear new pages. */
const pieceBytes = 256 * 1024;

type Splice = (items: readonly CachedObject[]) => Uint8Array;

/** Splices a list from encoded bytes in pieces. */
export function* splicedPieces(items: readonly CachedObject[], splice: Splice): Generator<Uint8Array> {
  for (let from = 0, to = 0; from < items.length; from = to) {
    for (let size = 0; to < items.length && size < pieceBytes; to++) size += itemBytes(items[to]!);
    if (from > 0) yield comma;
    yield splice(items.slice(from, to));
  }
}

/** Splices a long list in time slices. */
export async function splicedLongList(
  items: readonly CachedObject[],
  splice: Splice,
): Promise<readonly Uint8Array[]> {
  const parts: Uint8Array[] = [];
  const work = new TimeSlice();
  for (const piece of splicedPieces(items, splice)) {
    parts.push(piece);
    if (work.expired) await work.yield();
  }
  return parts;
}

const comma = Buffer.from(",");

interface Form {
  encode(item: unknown): string | Uint8Array;
  readonly between: string | Uint8Array;
  around(parts: readonly Uint8Array[]): readonly Uint8Array[];
}

function json({ empty }: LongList, pretty: boolean): Form {
  const text = pretty ? stringifyJson(empty, 2) : stringifyJson(empty);
  const cut = text.lastIndexOf("[]") + 1;
  const around = (parts: readonly Uint8Array[], head: string, tail: string): readonly Uint8Array[] => [
    Buffer.from(head),
    ...parts,
    Buffer.from(tail),
  ];
  if (!pretty)
    return {
      encode: stringifyJson,
      between: ",",
      around: (parts) => around(parts, text.slice(0, cut), `${text.slice(cut)}\n`),
    };
  return {
    // Strings contain no line breaks in JSON.
    encode: (item) => stringifyJson(item, 2).replaceAll("\n", "\n    "),
    between: ",\n    ",
    around: (parts) => around(parts, `${text.slice(0, cut)}\n    `, `\n  ${text.slice(cut)}`),
  };
}

function yaml({ empty }: LongList): Form {
  const text = printYaml(empty);
  const [place = "", key] = /^(items|rows): \[\]\n/m.exec(text)!;
  const cut = text.indexOf(place);
  return {
    // A sequence has the same indentation as its key.
    encode: (item) => printYaml([item]),
    between: "",
    around: (parts) => [
      Buffer.from(`${text.slice(0, cut)}${key}:\n`),
      ...parts,
      Buffer.from(text.slice(cut + place.length)),
    ],
  };
}

const itemTag = 0x12;

function binary({ empty, listSchema, itemSchema }: LongList, magic: Uint8Array): Form {
  const codec = protobufCodec(itemSchema);
  return {
    encode: (item) => {
      const bytes = codec.encode(item as never);
      const head = Buffer.from([itemTag, ...varint(bytes.length)]);
      return Buffer.concat([head, bytes]);
    },
    between: new Uint8Array(0),
    around: (parts) => [
      encodeEnvelope(empty, Buffer.concat([protobufCodec(listSchema).encode(empty), ...parts]), magic),
    ],
  };
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 0x80) return [...bytes, rest];
    bytes.push((rest & 0x7f) | 0x80);
  }
}
