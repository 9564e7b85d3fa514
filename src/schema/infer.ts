// Derives the TypeScript type of a declaration, at compile time only.
import type {
  Field,
  Fields,
  KindName,
  ListOf,
  MapOf,
  Message,
  Presence,
  Recursive,
  Scalar,
  Shape,
} from "./shape.ts";

/** The type of the objects that a declaration describes. */
export type TypeOf<S extends Shape> =
  S extends Message<infer F>
    ? S extends { readonly kind: KindName & { readonly kind: infer K } }
      ? { apiVersion: string; kind: K } & FieldsOf<F>
      : FieldsOf<F>
    : ValueOf<S>;

type ValueOf<S extends Shape> =
  S extends Scalar<infer T>
    ? T
    : S extends ListOf<infer Item>
      ? ValueOf<Item>[]
      : S extends MapOf<infer Item>
        ? Record<string, ValueOf<Item>>
        : S extends Recursive<infer T>
          ? T
          : S extends Message<infer F>
            ? FieldsOf<F>
            : never;

type Named<F extends Fields, P extends Presence> = {
  [K in keyof F]: F[K]["presence"] extends P ? K : never;
}[keyof F];

type FieldsOf<F extends Fields> = Flatten<
  { [K in Named<F, "required" | "embedded">]: Always<F[K]> } & {
    [K in Named<F, "optional" | "pointer">]?: ValueOf<F[K]["shape"]> | undefined;
  } & Inlined<F>
>;

// A required list, map or byte string may be null on the wire, and so may an unset embedded time or raw
// object.
type Always<F extends Field> = F["shape"] extends ListOf | MapOf | Scalar<unknown, Nullable>
  ? ValueOf<F["shape"]> | null
  : ValueOf<F["shape"]>;
type Nullable = "time" | "microTime" | "bytes" | "rawExtension" | "json";

type Inlined<F extends Fields> = [Named<F, "inline">] extends [never]
  ? unknown
  : UnionToIntersection<{ [K in Named<F, "inline">]: ValueOf<F[K]["shape"]> }[Named<F, "inline">]>;
type UnionToIntersection<U> = (U extends unknown ? (item: U) => void : never) extends (item: infer I) => void
  ? I
  : never;
type Flatten<T> = { [K in keyof T]: T[K] } & {};
