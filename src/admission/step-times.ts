// Latencies of one admission step and its plugins. The end time of a plugin is the start time of the next
// one, so that the clock is read once per plugin.
import type { AdmissionPlugin, Operation } from "./attributes.ts";

export type AdmissionStep = "admit" | "validate";

export interface AdmissionObserver {
  plugin(name: string, step: AdmissionStep, operation: Operation, refused: boolean, seconds: number): void;
  step(step: AdmissionStep, operation: Operation, refused: boolean, seconds: number): void;
}

export const unobserved: AdmissionObserver = { plugin: () => undefined, step: () => undefined };

export class StepTimes {
  readonly #observer: AdmissionObserver;
  readonly #step: AdmissionStep;
  readonly #operation: Operation;
  readonly #began = performance.now();
  #at = this.#began;
  #running: AdmissionPlugin | undefined;

  constructor(observer: AdmissionObserver, step: AdmissionStep, operation: Operation) {
    this.#observer = observer;
    this.#step = step;
    this.#operation = operation;
  }

  begin(plugin: AdmissionPlugin): void {
    this.#running = plugin;
  }

  end(refused: boolean): void {
    const now = performance.now();
    const seconds = (now - this.#at) / 1000;
    this.#observer.plugin(this.#running!.name, this.#step, this.#operation, refused, seconds);
    this.#at = now;
    this.#running = undefined;
  }

  endStep(refused: boolean): void {
    this.#observer.step(this.#step, this.#operation, refused, (this.#at - this.#began) / 1000);
  }

  /** Records that the running plugin refused the request with an error. */
  fail(): void {
    if (this.#running) this.end(true);
    this.endStep(true);
  }
}
