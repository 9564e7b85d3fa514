// Runs the same operation many times with a number of them in flight.

export async function inFlight(
  lanes: number,
  times: number,
  one: (at: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < times) await one(next++);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}
