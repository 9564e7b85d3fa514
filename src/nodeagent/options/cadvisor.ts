// Flags that the kubelet inherits from cAdvisor. This agent measures containers itself: three of the flags
// have an effect, the others are accepted with the original's deprecation text and ignored.
import type { Dialect } from "#dialect";
import { type OptionType, above, bool, duration, int, option, section, text } from "#options";

const measuresItself = "the agent measures containers itself";
const keepsNothing = "stats are kept in memory only and not written to a database";

export const cadvisorSection = (dialect: Dialect) => {
  const agent = dialect.spelling.word("NodeAgent");
  const inherited = {
    deprecated: `This is a cadvisor flag that was mistakenly registered with the ${agent}. Due to legacy concerns, it will follow the standard CLI deprecation timeline before being removed.`,
  };
  const unused = <const F extends string, T>(
    flag: F,
    type: OptionType<T>,
    standard: NoInfer<T>,
    idle = measuresItself,
  ) =>
    option({
      ...inherited,
      flag,
      type,
      default: standard,
      idle,
      unlisted: true,
      doc: "Accepted for compatibility.",
    });
  return section("Container stats", [
    option({
      flag: "housekeeping-interval",
      type: duration,
      default: 10_000,
      check: above(0),
      doc: "Maximum age of container stats; they are collected on request, at most every two seconds.",
    }),
    option({
      ...inherited,
      flag: "machine-id-file",
      type: text,
      default: "/etc/machine-id,/var/lib/dbus/machine-id",
      doc: "Comma-separated files with the machine ID; the first that exists is used.",
    }),
    option({
      ...inherited,
      flag: "boot-id-file",
      type: text,
      default: "/proc/sys/kernel/random/boot_id",
      doc: "Comma-separated files with the boot ID; the first that exists is used.",
    }),
    unused("application-metrics-count-limit", int, 100),
    unused("container-hints", text, "/etc/cadvisor/container_hints.json"),
    unused("containerd", text, "/run/containerd/containerd.sock"),
    unused("containerd-namespace", text, dialect.wire.groupSuffix),
    unused("enable-load-reader", bool, false),
    unused("event-storage-age-limit", text, "default=0"),
    unused("event-storage-event-limit", text, "default=0"),
    unused("global-housekeeping-interval", duration, 60_000),
    unused("log-cadvisor-usage", bool, false),
    unused("storage-driver-buffer-duration", duration, 60_000, keepsNothing),
    unused("storage-driver-db", text, "cadvisor", keepsNothing),
    unused("storage-driver-host", text, "localhost:8086", keepsNothing),
    unused("storage-driver-password", text, "root", keepsNothing),
    unused("storage-driver-secure", bool, false, keepsNothing),
    unused("storage-driver-table", text, "stats", keepsNothing),
    unused("storage-driver-user", text, "root", keepsNothing),
  ]);
};
