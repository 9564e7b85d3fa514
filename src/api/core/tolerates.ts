// Reports whether a pod tolerates a taint; shared by scheduling, admission and eviction.
import type { Taint, Toleration } from "./affinity.ts";

export function tolerates({ key, operator, value, effect }: Toleration, taint: Taint): boolean {
  if (effect && effect !== taint.effect) return false;
  if (key && key !== taint.key) return false;
  if (operator === "Exists") return true;
  return Boolean(key) && (value ?? "") === (taint.value ?? "");
}
