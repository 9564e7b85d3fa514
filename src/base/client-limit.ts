// Limits how much of a resource that all clients share one of them occupies.

export interface ClientLimit {
  /** Occupies one unit until the returned function is called; returns undefined if the client has no more. */
  acquire(client: string): (() => void) | undefined;
}

export function clientLimit(max: number): ClientLimit {
  const occupied = new Map<string, number>();
  return {
    acquire: (client) => {
      const count = occupied.get(client) ?? 0;
      if (count >= max) return undefined;
      occupied.set(client, count + 1);
      return () => {
        const left = occupied.get(client)! - 1;
        if (left > 0) occupied.set(client, left);
        else occupied.delete(client);
      };
    },
  };
}
