// Processor time of an operation, for tests of inputs crafted to be expensive.

/** Milliseconds of processor time, which are independent of the load of the machine. */
export async function processorMilliseconds(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
