// Node ports on 127.0.0.1 need the kernel to route loopback addresses to other interfaces. What it was set to
// before is restored.
import { readFileSync, writeFileSync } from "node:fs";

const setting = "/proc/sys/net/ipv4/conf/all/route_localnet";

/** Turns it on; gives what turns it off again, or undefined when it was on already. */
export function routeLoopback(file = setting): (() => void) | undefined {
  if (readFileSync(file, "utf8").trim() === "1") return undefined;
  writeFileSync(file, "1");
  return () => writeFileSync(file, "0");
}
