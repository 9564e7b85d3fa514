// Measures the width of the area with the marks: the element without the column of names.
import type { RefObject } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";

export function useWidth(holder: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = holder.current!;
    const measure = (): void => {
      const names = Number.parseInt(getComputedStyle(element).getPropertyValue("--names"), 10) || 0;
      setWidth(Math.max(0, element.clientWidth - names));
    };
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    return () => observer.disconnect();
  }, [holder]);
  return width;
}
