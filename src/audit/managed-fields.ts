// Removes managed fields from the JSON text of an object, list or table. All other text is kept byte for byte;
// numbers are not parsed and formatted again.

/** Returns the text without `managedFields` in the metadata of the object, its items and its rows' objects. */
export function withoutManagedFields(text: string): string {
  if (!text.includes('"managedFields"')) return text;
  const cuts: [from: number, to: number][] = [];
  const scanner = new Scanner(text);
  /** Visits the named member of an object and skips the others. */
  const only = (name: string, visit: () => void): void =>
    scanner.members((key) => (key === name ? visit() : scanner.skip()));
  const metadata = (): void => only("metadata", () => cutFrom(scanner, cuts));
  scanner.members((key) => {
    if (key === "metadata") cutFrom(scanner, cuts);
    else if (key === "items") scanner.items(metadata);
    else if (key === "rows") scanner.items(() => only("object", metadata));
    else scanner.skip();
  });
  let out = "";
  let at = 0;
  for (const [from, to] of cuts) {
    out += text.slice(at, from);
    at = to;
  }
  return out + text.slice(at);
}

function cutFrom(scanner: Scanner, cuts: [number, number][]): void {
  scanner.members((key, start, first) => {
    scanner.skip();
    if (key !== "managedFields") return;
    const end = scanner.at;
    // Cut the comma before the member as well, or for the first member the one behind it.
    const behind = scanner.comma();
    cuts.push(first ? [start, behind ?? end] : [scanner.commaBefore(start), end]);
  });
}

class Scanner {
  at = 0;
  readonly #text: string;
  constructor(text: string) {
    this.#text = text;
  }

  /**
   * Calls `visit` at the value of each member; it must move past the value. Skips values that are not
   * objects.
   */
  members(visit: (key: string, start: number, first: boolean) => void): void {
    this.#space();
    if (this.#text[this.at] !== "{") return this.skip();
    this.at++;
    for (let first = true; ; first = false) {
      this.#space();
      if (this.#text[this.at] === "}" || this.at >= this.#text.length) break;
      if (this.#text[this.at] === ",") this.at++;
      this.#space();
      const start = this.at;
      this.#string();
      const key = this.#text.slice(start + 1, this.at - 1);
      this.#space();
      this.at++;
      visit(key, start, first);
    }
    this.at++;
  }

  items(visit: () => void): void {
    this.#space();
    if (this.#text[this.at] !== "[") return this.skip();
    this.at++;
    for (;;) {
      this.#space();
      const next = this.#text[this.at];
      if (next === "]" || next === undefined) break;
      if (next === ",") this.at++;
      else visit();
    }
    this.at++;
  }

  /** Moves past one value of any type. */
  skip(): void {
    this.#space();
    const first = this.#text[this.at];
    if (first === '"') return this.#string();
    if (first !== "{" && first !== "[") {
      while (this.at < this.#text.length && !",]} \n\r\t".includes(this.#text[this.at]!)) this.at++;
      return;
    }
    for (let depth = 0; this.at < this.#text.length;) {
      const character = this.#text[this.at]!;
      if (character === '"') {
        this.#string();
        continue;
      }
      if (character === "{" || character === "[") depth++;
      else if (character === "}" || character === "]") depth--;
      this.at++;
      if (depth === 0) return;
    }
  }

  /** Returns the position after the next comma, if one follows. */
  comma(): number | undefined {
    this.#space();
    return this.#text[this.at] === "," ? this.at + 1 : undefined;
  }

  commaBefore(position: number): number {
    return this.#text.lastIndexOf(",", position);
  }

  #string(): void {
    for (this.at++; this.at < this.#text.length; this.at++) {
      const character = this.#text[this.at];
      if (character === "\\") this.at++;
      else if (character === '"') break;
    }
    this.at++;
  }

  #space(): void {
    while (" \n\r\t".includes(this.#text[this.at] ?? "x")) this.at++;
  }
}
