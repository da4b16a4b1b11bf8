/** A button that opens a small panel below it. A click elsewhere, or Escape, closes the panel. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { SmallButton } from './button.js';
import { Icon, type IconName } from './icon.js';

export interface MenuProps {
  readonly label: string;
  readonly icon?: IconName;
  /** @param close closes the panel after a choice */
  children(close: () => void): ComponentChildren;
}

/** The same as in `.menu-panel`. */
const PANEL_PX = 340;

export function Menu({ label, icon, children }: MenuProps) {
  const isOpen = useSignal(false);
  const isAtEnd = useSignal(false);
  const box = useRef<HTMLDivElement>(null);
  const panel = useId();
  const close = () => {
    isOpen.value = false;
    box.current?.querySelector('button')?.focus();
  };
  // Before the browser handles another key: a text that is typed right after the click belongs to the field.
  useLayoutEffect(() => {
    if (!isOpen.value) return undefined;
    box.current?.querySelector<HTMLElement>('.menu-panel :is(input, select, a)')?.focus();
    const onPointer = ({ target }: Event) => {
      if (box.current?.contains(target as Node) === false) isOpen.value = false;
    };
    addEventListener('pointerdown', onPointer);
    return () => removeEventListener('pointerdown', onPointer);
  }, [isOpen.value]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape closes the panel from each of its controls
    <div
      ref={box}
      class="menu"
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !isOpen.value) return;
        event.stopPropagation();
        close();
      }}
    >
      <SmallButton
        aria-expanded={isOpen.value}
        aria-controls={panel}
        onClick={({ currentTarget }) => {
          isAtEnd.value = currentTarget.getBoundingClientRect().left + PANEL_PX > document.documentElement.clientWidth;
          isOpen.value = !isOpen.value;
        }}
      >
        {icon !== undefined && <Icon name={icon} />}
        {label}
      </SmallButton>
      {isOpen.value && (
        <div id={panel} class={`menu-panel ${isAtEnd.value ? 'is-at-end' : ''}`}>
          {children(close)}
        </div>
      )}
    </div>
  );
}
