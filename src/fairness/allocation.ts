// Divides the server's seats among priority levels that lend and borrow: in proportion to their demand,
// within their bounds (KEP-1040, "max-min fairness").

export interface Claim {
  readonly target: number;
  readonly lower: number;
  readonly upper: number;
}

export interface Allocation {
  readonly seats: readonly number[];
  /** The fraction of its target that every level within its bounds gets. */
  readonly fairFraction: number;
}

const minTarget = 0.001;

/** Returns undefined if the bounds do not permit an allocation of exactly `total`. */
export function allocate(total: number, claims: readonly Claim[]): Allocation | undefined {
  const targets = claims.map(({ target }) => Math.max(target, minTarget));
  const at = (fraction: number): number[] =>
    claims.map(({ lower, upper }, index) => Math.max(lower, Math.min(upper, fraction * targets[index]!)));
  const sum = (seats: readonly number[]): number => seats.reduce((before, each) => before + each, 0);
  const lowest = sum(claims.map(({ lower }) => lower));
  const highest = sum(claims.map(({ upper }) => upper));
  if (lowest > total + 1e-7 || highest < total - 1e-7) return undefined;
  // The sum is a piecewise linear function of the fraction, with a bend wherever a bound starts or ends to
  // apply.
  const bends = claims
    .flatMap(({ lower, upper }, index) => [lower / targets[index]!, upper / targets[index]!])
    .toSorted((a, b) => a - b);
  let [low, lowSum] = [0, lowest];
  for (const bend of bends) {
    const bendSum = sum(at(bend));
    if (bendSum >= total) {
      const fairFraction =
        bendSum > lowSum ? low + ((bend - low) * (total - lowSum)) / (bendSum - lowSum) : bend;
      return { seats: at(fairFraction), fairFraction };
    }
    [low, lowSum] = [bend, bendSum];
  }
  return { seats: at(low), fairFraction: low };
}

/**
 * Returns an allocation if exempt levels leave too few seats for the lower bounds, which are then lowered in
 * proportion, but not below the least that each level is configured to keep.
 */
export function allocateScarce(
  remaining: number,
  least: readonly number[],
  claims: readonly Claim[],
): Allocation | undefined {
  const leastSum = least.reduce((sum, each) => sum + each, 0);
  const lowerSum = claims.reduce((sum, { lower }) => sum + lower, 0);
  if (remaining > leastSum && remaining > lowerSum) return undefined;
  const share = remaining <= leastSum ? 0 : (remaining - leastSum) / (lowerSum - leastSum);
  const seats = claims.map(({ lower }, index) => least[index]! + Math.round((lower - least[index]!) * share));
  return { seats, fairFraction: 0 };
}
