// The same thing many times, with some of them under way at once.

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
