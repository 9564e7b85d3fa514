// Selectors of autoscaler targets. Pods selected by the targets of several autoscalers are scaled by none of
// them.
import { type Selector, SelectorError, parseLabelSelector, selector } from "#base";
import { type SeenPod, splitKey } from "../pods.ts";

export interface SelectorProblem {
  /** Reason of the event. */
  readonly event: "SelectorRequired" | "InvalidSelector" | "AmbiguousSelector";
  readonly message: string;
  /** Reason of the condition. */
  readonly reason: "InvalidSelector" | "AmbiguousSelector";
  readonly condition: string;
}

const selects = (by: Selector, { metadata }: SeenPod): boolean =>
  by.matches({ labels: metadata.labels ?? {}, fields: {} });

export class TargetSelectors {
  /** Selectors by autoscaler key, of targets that have been observed. */
  readonly #selectors = new Map<string, Selector>();

  forget(key: string): void {
    this.#selectors.delete(key);
  }

  /** Returns the pods selected by an autoscaler's target, or the reason why it cannot act on them. */
  podsOf(
    key: string,
    text: string,
    inNamespace: readonly SeenPod[],
  ): { readonly pods: readonly SeenPod[] } | { readonly problem: SelectorProblem } {
    if (text === "") {
      const condition = "the HPA target's scale is missing a selector";
      const message = "selector is required";
      return { problem: { event: "SelectorRequired", message, reason: "InvalidSelector", condition } };
    }
    let targetSelector: Selector;
    try {
      targetSelector = selector(parseLabelSelector(text), []);
    } catch (error) {
      if (!(error instanceof SelectorError)) throw error;
      const message = `couldn't convert selector into a corresponding internal selector object: ${error.message}`;
      return {
        problem: { event: "InvalidSelector", message, reason: "InvalidSelector", condition: message },
      };
    }
    this.#selectors.set(key, targetSelector);
    const pods = inNamespace.filter((pod) => selects(targetSelector, pod));
    const controlling = this.#controlling(splitKey(key)[0], pods);
    if (controlling.length <= 1) return { pods };
    const message = `pods by selector ${text} are controlled by multiple HPAs: [${controlling.join(" ")}]`;
    return {
      problem: { event: "AmbiguousSelector", message, reason: "AmbiguousSelector", condition: message },
    };
  }

  #controlling(namespace: string, pods: readonly SeenPod[]): string[] {
    return [...this.#selectors]
      .filter(([key, by]) => splitKey(key)[0] === namespace && pods.some((pod) => selects(by, pod)))
      .map(([key]) => key);
  }
}
