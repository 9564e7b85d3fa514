// Now and then an HTTP/2 client is asked to connect anew, so that clients spread over the servers behind a
// balancer.
import type { ApiCall } from "#endpoints";
import type { Filter } from "./filter.ts";

export function goAway(chance: number, random: () => number = Math.random): Filter {
  return {
    name: "go away",
    run: (call, next) => {
      if (call.call.protocol === "2" && random() < chance) call.call.goAway();
      return next();
    },
  };
}

/** HTTP/2 alone: requests under way are answered, and further ones need another connection. */
export function endConnection({ call }: ApiCall): void {
  if (call.protocol === "2") call.goAway(true);
}
