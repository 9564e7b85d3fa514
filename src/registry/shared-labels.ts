// The labels of stored objects. Objects of one workload have the same, which are held once.

type Labels = Readonly<Record<string, string>>;

const maxShared = 4096;
/** Longer labels are not held, since they would stay in memory when their object is deleted. */
const maxCharacters = 2048;

export class SharedLabels {
  readonly #known = new Map<string, Labels>();

  /** Returns equal labels, in the same order: these, or those given earlier. */
  of(labels: Labels): Labels {
    const text = JSON.stringify(labels);
    if (text.length > maxCharacters) return labels;
    const known = this.#known.get(text);
    if (known) return known;
    if (this.#known.size >= maxShared) this.#known.clear();
    this.#known.set(text, labels);
    return labels;
  }
}
