// Limits how much of a resource that all clients share one of them occupies.

export interface ClientLimit {
  /** Occupies one unit until the returned function is called; returns undefined if none is left for the client. */
  acquire(client: string): (() => void) | undefined;
}

export function clientLimit(maxPerClient: number, max = Infinity): ClientLimit {
  const occupied = new Map<string, number>();
  let total = 0;
  return {
    acquire: (client) => {
      const count = occupied.get(client) ?? 0;
      if (count >= maxPerClient || total >= max) return undefined;
      occupied.set(client, count + 1);
      total += 1;
      return () => {
        total -= 1;
        const left = occupied.get(client)! - 1;
        if (left > 0) occupied.set(client, left);
        else occupied.delete(client);
      };
    },
  };
}
