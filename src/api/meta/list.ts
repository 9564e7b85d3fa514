// Lists, of a specific kind or of any kinds.
import {
  type Field,
  type FieldExtras,
  type Fields,
  type KindName,
  type ListOf,
  type Message,
  type TypeOf,
  embedded,
  list,
  rawExtension,
  required,
} from "#schema";
import { ListMeta } from "./object-meta.ts";
import { meta } from "../packages.ts";

/** A declaration of a top-level kind. */
export type Kind<K extends string = string, F extends Fields = Fields> = Message<F> & {
  readonly kind: KindName & { readonly kind: K };
};

export type ListKind<K extends string, F extends Fields> = Kind<
  `${K}List`,
  {
    readonly metadata: Field<typeof ListMeta, "embedded">;
    readonly items: Field<ListOf<Message<F>>, "required">;
  }
>;

const lists = new WeakMap<Message, Message>();

/** Returns the list of a kind, created once. */
export function listOf<K extends string, F extends Fields>(of: Kind<K, F>): ListKind<K, F> {
  const { open, publishedName, selectable } = of.more;
  const name = open?.listKind ?? `${of.name}List`;
  const made = lists.get(of) ?? {
    ...of,
    name,
    doc: `A list of ${of.name} objects.`,
    fields: {
      metadata: embedded(1, ListMeta, "Standard list metadata."),
      items: required(2, list(of), `List of ${pluralOf(of.name)}.`, itemExtras(of)),
    },
    more: {
      ...(publishedName && { publishedName: publishedName.replace(/[^.]*$/, name) }),
      ...(selectable && { selectable }),
    },
    kind: { ...of.kind, kind: name },
  };
  lists.set(of, made);
  return made as ListKind<K, F>;
}

/** Returns what the published lists of some kinds specify in addition. */
function itemExtras({ kind, more: { open } }: Kind): FieldExtras {
  if (open) return {};
  if (kind.kind === "CSIStorageCapacity") return { list: { type: "map", keys: ["name"] } };
  const isPolicy = kind.kind.startsWith("ValidatingAdmissionPolicy") && kind.version === "v1alpha1";
  return isPolicy ? { published: "optional" } : {};
}

export const List = meta.kind("List", "A list of objects of any kinds, as used by client tools.", {
  metadata: embedded(1, ListMeta, "Standard list metadata."),
  items: required(2, list(rawExtension), "List of objects."),
});
export type List = TypeOf<typeof List>;

/** Returns the plural for descriptions: `services`, `policies`, `ingresses`, `endpoints`. */
function pluralOf(kind: string): string {
  const word = kind.toLowerCase();
  if (word.endsWith("s")) return word.endsWith("ss") ? `${word}es` : word;
  return `${word.replace(/([^aeiou])y$/, "$1ie")}s`;
}
