// An index of objects by computed keys, maintained from the events of one informer.
import type { AnyObject, InformerEvent } from "#client";

export interface Index<T> {
  apply(event: InformerEvent<T>): void;
  get(key: string): readonly T[];
}

const none: readonly never[] = [];
const keyOf = ({ metadata }: AnyObject): string => `${metadata.namespace ?? ""}/${metadata.name}`;

export function objectIndex<T extends AnyObject>(keysOf: (object: T) => readonly string[]): Index<T> {
  const byKey = new Map<string, Map<string, T>>();
  const remove = (object: T): void => {
    for (const key of keysOf(object)) {
      const entries = byKey.get(key);
      entries?.delete(keyOf(object));
      if (entries?.size === 0) byKey.delete(key);
    }
  };
  return {
    apply: (event) => {
      if (event.type === "updated") remove(event.old);
      if (event.type === "deleted") return remove(event.object);
      for (const key of keysOf(event.object)) {
        let entries = byKey.get(key);
        if (!entries) byKey.set(key, (entries = new Map()));
        entries.set(keyOf(event.object), event.object);
      }
    },
    get: (key) => {
      const entries = byKey.get(key);
      return entries ? [...entries.values()] : none;
    },
  };
}
