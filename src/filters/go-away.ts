// Occasionally makes an HTTP/2 client reconnect, so that clients spread over the servers behind a load
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

/** Only for HTTP/2: active requests are answered, further ones need another connection. */
export function endConnection({ call }: ApiCall): void {
  if (call.protocol === "2") call.goAway(true);
}
