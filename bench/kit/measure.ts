// Measures the CPU time of functions in alternating rounds in one process, and keeps the best round of each. Compare
// ratios, not absolute times.
import { figure } from "./figures.ts";

export interface Contender {
  readonly name: string;
  readonly run: () => unknown;
}

let sink: unknown;

/** Microseconds per call, by name. */
export function measure(contenders: readonly Contender[], rounds = 12, millis = 60): Map<string, number> {
  const best = new Map<string, number>();
  for (let round = 0; round < rounds + 2; round++) {
    for (const { name, run } of contenders) {
      let calls = 0;
      const start = process.cpuUsage();
      let micros = 0;
      while (micros < millis * 1000) {
        for (let i = 0; i < 100; i++, calls++) sink = run();
        const { user, system } = process.cpuUsage(start);
        micros = user + system;
      }
      if (round > 1) best.set(name, Math.min(best.get(name) ?? Infinity, micros / calls));
    }
  }
  return best;
}

export function table(title: string, figures: ReadonlyMap<string, number>): void {
  console.log(title);
  for (const [name, micros] of figures)
    console.log(
      `  ${name.padEnd(44)} ${micros.toFixed(2).padStart(9)} µs ${figure(1e6 / micros).padStart(12)} /s`,
    );
}

export const used = (): unknown => sink;
