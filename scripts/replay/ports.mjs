// Ports for checkers that run at once: ranges on the loopback address that nobody listens on and that no other
// job of this process was given.
import { createServer } from "node:net";

// Below the ports that the system gives to clients. Scripted backends listen on fixed ports from 29150 on,
// which BACKEND_PORT_SHIFT moves in steps of a hundred.
const [lowest, highest, width] = [20_000, 28_900, 20];
const [firstBackend, backends, shifts] = [29_150, 7, 30];
const given = new Set();

/** The first port of a range of twenty. */
export const portRange = () =>
  firstFree((highest - lowest) / width, (at) => lowest + at * width, width).then(({ from }) => from);

/** What BACKEND_PORT_SHIFT is to be for a job. */
export const backendShift = () =>
  firstFree(shifts, (at) => firstBackend + at * 100, backends).then(({ from }) => from - firstBackend);

// Several runs on one machine begin to look at different places.
async function firstFree(places, fromOf, length) {
  const start = process.pid % places;
  for (let tried = 0; tried < places; tried++) {
    const from = fromOf((start + tried) % places);
    if (given.has(from)) continue;
    // Taken before it is looked at: others look at the same time.
    given.add(from);
    if (await allFree(from, length)) return { from };
    given.delete(from);
  }
  throw new Error("no range of free ports is left");
}

/** Gives what a job no longer needs to the next one. */
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
