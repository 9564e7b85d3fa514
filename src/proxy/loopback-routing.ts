// Node ports on 127.0.0.1 require the kernel to route loopback addresses to other interfaces. The previous
// setting is restored.
import { readFileSync, writeFileSync } from "node:fs";

const setting = "/proc/sys/net/ipv4/conf/all/route_localnet";

/** Enables route_localnet; returns a function that restores it, or undefined if it was enabled before. */
export function routeLoopback(file = setting): (() => void) | undefined {
  if (readFileSync(file, "utf8").trim() === "1") return undefined;
  writeFileSync(file, "1");
  return () => writeFileSync(file, "0");
}
