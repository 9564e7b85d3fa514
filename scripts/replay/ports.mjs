// Ports for checkers that run in parallel: loopback port ranges without listeners that no other job of this process
// uses.
import { createServer } from "node:net";

// Below the ephemeral ports of the system. Scripted backends listen on fixed ports from 29150 on, which
// BACKEND_PORT_SHIFT moves in steps of a hundred.
const [lowest, highest, width] = [20_000, 28_900, 20];
const [firstBackend, backends, shifts] = [29_150, 7, 30];
const given = new Set();

/** Reserves a range of twenty ports and returns the first. */
export const portRange = () =>
  firstFree((highest - lowest) / width, (at) => lowest + at * width, width).then(({ from }) => from);

/** Returns the BACKEND_PORT_SHIFT of a job. */
export const backendShift = () =>
  firstFree(shifts, (at) => firstBackend + at * 100, backends).then(({ from }) => from - firstBackend);

// Several runs on one machine start searching at different ports.
async function firstFree(places, fromOf, length) {
  const start = process.pid % places;
  for (let tried = 0; tried < places; tried++) {
    const from = fromOf((start + tried) % places);
    if (given.has(from)) continue;
    // Reserved before it is checked, since other jobs check concurrently.
    given.add(from);
    if (await allFree(from, length)) return { from };
    given.delete(from);
  }
  throw new Error("no range of free ports is left");
}

/** Releases the ports of a job. */
export const release = (port, shift) => {
  given.delete(port);
  given.delete(firstBackend + shift);
};

async function allFree(from, length) {
  for (let port = from; port < from + length; port++) if (!(await isFree(port))) return false;
  return true;
}

const isFree = (port) =>
  new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
