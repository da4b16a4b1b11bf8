/** Whether an element has been in view, so that rows of long lists ask for their data only then. */
import { useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** Pixels below and above the window that count as seen. */
const MARGIN = '200px';

export function useSeen<T extends Element>(): [box: RefObject<T | null>, isSeen: boolean] {
  const box = useRef<T>(null);
  const isSeen = useSignal(false);
  useEffect(() => {
    if (box.current === null) return undefined;
    const observer = new IntersectionObserver(
      (entries) => {
        if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
        isSeen.value = true;
        observer.disconnect();
      },
      { rootMargin: MARGIN },
    );
    observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  return [box, isSeen.value];
}
