/** Actions of a row or page in a menu. The browser closes it on Escape and on a click elsewhere. */
import { useId, useRef } from 'preact/hooks';
import { Icon } from './icon.js';

export interface MenuItem {
  readonly label: string;
  readonly isDangerous?: boolean;
  /** An item is a link or has a function. */
  readonly href?: string;
  onChoose?(): void;
}

export interface RowMenuProps {
  /** For screen readers: "Actions of nightly-report". */
  readonly label: string;
  readonly items: readonly MenuItem[];
}

const GAP_PX = 4;

export function RowMenu({ label, items }: RowMenuProps) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const place = () => {
    const { current: box } = list;
    const at = button.current?.getBoundingClientRect();
    if (box === null || at === undefined || !box.matches(':popover-open')) return;
    const { width, height } = box.getBoundingClientRect();
    const isAbove = at.bottom + GAP_PX + height > innerHeight && at.top > height + GAP_PX;
    box.style.top = `${isAbove ? at.top - height - GAP_PX : at.bottom + GAP_PX}px`;
    box.style.left = `${Math.max(at.right - width, GAP_PX)}px`;
    box.querySelector<HTMLElement>('a, button')?.focus();
  };
  const step = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    const all = [...(list.current?.querySelectorAll<HTMLElement>('a, button') ?? [])];
    if (by === 0) return;
    event.preventDefault();
    const at = all.indexOf(document.activeElement as HTMLElement);
    all[(at + by + all.length) % all.length]?.focus();
  };
  const choose = (item: MenuItem) => {
    list.current?.hidePopover();
    item.onChoose?.();
  };
  return (
    <>
      <button ref={button} type="button" class="button small quiet icon" aria-label={label} popovertarget={id}>
        <Icon name="more" />
      </button>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: arrow keys move between its buttons and links */}
      <div ref={list} id={id} popover="auto" class="row-menu" onToggle={place} onKeyDown={step}>
        {items.map((item) => {
          const { label: text, isDangerous = false, href } = item;
          const kind = isDangerous ? 'is-bad' : undefined;
          return href === undefined ? (
            <button key={text} type="button" class={kind} onClick={() => choose(item)}>
              {text}
            </button>
          ) : (
            <a key={text} href={href} class={kind} onClick={() => choose(item)}>
              {text}
            </a>
          );
        })}
      </div>
    </>
  );
}
