/** A panel at the side of a list with the details of one item; the list stays usable. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Icon } from './icon.js';

export interface DrawerProps {
  /** For screen readers: the kind of the item and its id. */
  readonly label: string;
  readonly title: ComponentChildren;
  /** Actions, below the title. */
  readonly actions?: ComponentChildren;
  readonly foot?: ComponentChildren;
  readonly children: ComponentChildren;
  onClose(): void;
}

export function Drawer({ label, title, actions, foot, children, onClose }: DrawerProps) {
  const element = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    const before = document.activeElement;
    element.current?.focus({ preventScroll: true });
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
    };
  }, []);
  return (
    <section ref={element} class="drawer" aria-label={label} tabIndex={-1}>
      <header class="drawer-head">
        <div class="row between nowrap top">
          <div class="grow">{title}</div>
          <button type="button" class="button quiet icon" aria-label="Close the details" onClick={() => onClose()}>
            <Icon name="close" />
          </button>
        </div>
        {actions !== undefined && <div class="row">{actions}</div>}
      </header>
      <div class="drawer-body stack">{children}</div>
      {foot !== undefined && <footer class="drawer-foot">{foot}</footer>}
    </section>
  );
}
