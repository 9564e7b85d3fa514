// What work costs, for tests of texts that are made to be expensive.

/** Milliseconds of processor time, which do not grow while others use the machine. */
export async function processorMilliseconds(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
