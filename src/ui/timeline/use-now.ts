// The current time for a moving view, updated with an animation frame a few times per second.
import { useEffect, useState } from "preact/hooks";

const stepMilliseconds = 500;

export function useNow(moves: boolean): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (!moves) return undefined;
    const timer = setInterval(() => requestAnimationFrame(() => setNow(Date.now())), stepMilliseconds);
    return () => clearInterval(timer);
  }, [moves]);
  return now;
}
