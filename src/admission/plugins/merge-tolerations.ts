// Merging of tolerations. There may be as many as fit into a request, so they are not compared pairwise.
import type { Toleration } from "#api";

/** Returns both lists without tolerations that another one covers. */
export function mergeTolerations(first: readonly Toleration[], second: readonly Toleration[]): Toleration[] {
  const all = [...first, ...second];
  const later = new Coverage();
  const coveredLater = new Set<number>();
  for (let position = all.length - 1; position >= 0; position--) {
    if (later.covers(all[position]!, "by others")) coveredLater.add(position);
    later.add(all[position]!);
  }
  const kept = new Coverage();
  return all.filter((each, position) => {
    if (coveredLater.has(position) || kept.covers(each)) return false;
    kept.add(each);
    return true;
  });
}

interface Longest {
  readonly seconds: number;
  readonly text: string;
}

/**
 * An index of tolerations. Tolerations that differ only in their seconds share an entry, which keeps the two
 * longest: at least one of them is not the toleration being looked up.
 */
export class Coverage {
  readonly #places = new Map<string, Longest[]>();
  readonly #texts = new Set<string>();

  add(toleration: Toleration): void {
    const text = tolerationText(toleration);
    this.#texts.add(text);
    const place = entryKey(toleration.key ?? "", conditionOf(toleration), toleration.effect ?? "");
    const own = {
      seconds: toleration.effect === "NoExecute" ? (toleration.tolerationSeconds ?? Infinity) : Infinity,
      text,
    };
    const others = (this.#places.get(place) ?? []).filter((each) => each.text !== text);
    this.#places.set(
      place,
      [...others, own].sort((a, b) => (a.seconds === b.seconds ? 0 : b.seconds - a.seconds)).slice(0, 2),
    );
  }

  /** Reports whether an indexed toleration covers the given one: an equal one, or a wider one. */
  covers(toleration: Toleration, by: "any" | "by others" = "any"): boolean {
    const text = tolerationText(toleration);
    if (by === "any" && this.#texts.has(text)) return true;
    const { key = "", operator, value = "", effect = "", tolerationSeconds = Infinity } = toleration;
    const places = [
      entryKey(key, exists, ""),
      entryKey(key, exists, effect),
      entryKey("", exists, ""),
      entryKey("", exists, effect),
    ];
    if (operator === "Equal") places.push(entryKey(key, `=${value}`, ""), entryKey(key, `=${value}`, effect));
    return places.some((place) =>
      this.#places.get(place)?.some((wide) => wide.text !== text && wide.seconds >= tolerationSeconds),
    );
  }
}

const exists = "exists";
const entryKey = (key: string, condition: string, effect: string): string =>
  JSON.stringify([key, condition, effect]);
const tolerationText = ({ key, operator, value, effect, tolerationSeconds }: Toleration): string =>
  JSON.stringify([key, operator, value, effect, tolerationSeconds]);

/** Returns the values that a toleration matches; an unknown operator matches none. */
function conditionOf({ operator, value = "" }: Toleration): string {
  if (operator === "Exists") return exists;
  return !operator || operator === "Equal" ? `=${value}` : "";
}
