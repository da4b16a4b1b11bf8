/** Decorative icons, without information of their own. */
import type { Signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { PrimaryButton } from './button.js';
import { setter } from './setter.js';

const PATHS = {
  overview: 'M3 13h6V3H3zm0 8h6v-6H3zm8 0h10V11H11zm0-18v6h10V3z',
  databases:
    'M12 3c4.4 0 8 1.3 8 3v12c0 1.7-3.6 3-8 3s-8-1.3-8-3V6c0-1.7 3.6-3 8-3zM4 6c0 1.7 3.6 3 8 3s8-1.3 8-3M4 12c0 1.7 3.6 3 8 3s8-1.3 8-3',
  queue: 'M3 7h13M3 12h13M3 17h8M18 14l3 3-3 3M21 17h-7',
  letters: 'M3 6h18v12H3zM3 7l9 6 9-6M15 14l4 4m0-4-4 4',
  workflows: 'M5 3h5v5H5zM14 16h5v5h-5zM14 3h5v5h-5zM7.5 8v10.5H14M7.5 13h9V8',
  search: 'M10.5 4a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13zM15.5 15.5 21 21',
  vectors: 'M4 20 20 4M20 4h-6M20 4v6M4 20h6M4 20v-6M8 8l2 2M14 14l2 2',
  past: 'M12 4a8 8 0 1 1-7.4 5M4 4v5h5M12 8v4.5l3 2',
  cluster: 'M12 3l8 4.5v9L12 21l-8-4.5v-9zM12 12l8-4.5M12 12v9M12 12 4 7.5',
  bell: 'M6 16V11a6 6 0 1 1 12 0v5l2 2H4zM10 21h4',
  team: 'M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM2.5 20c0-3.6 2.9-6 6.5-6s6.5 2.4 6.5 6M16 4.4a3.5 3.5 0 0 1 0 6.4M18 14.4c2.2.9 3.5 3 3.5 5.6',
  more: 'M5 11.5v1M12 11.5v1M19 11.5v1',
  menu: 'M4 6h16M4 12h16M4 18h16',
  close: 'M5 5l14 14M19 5 5 19',
  copy: 'M8 8h12v12H8zM16 8V4H4v12h4',
  plus: 'M12 5v14M5 12h14',
  reload: 'M20 12a8 8 0 1 1-2.4-5.7M20 3v5h-5',
  moon: 'M20 14.5A8 8 0 0 1 9.5 4 8 8 0 1 0 20 14.5z',
  out: 'M10 4H4v16h6M15 8l4 4-4 4M19 12H9',
  chevron: 'M9 5l7 7-7 7',
  warning: 'M12 3 2 20h20zM12 10v4M12 17v.5',
  expand: 'M14 4h6v6M20 4l-8 8M10 4H4v16h16v-6',
  star: 'M12 3l2.7 5.8 6.3.7-4.7 4.3 1.3 6.2L12 16.8 6.4 20l1.3-6.2L3 9.5l6.3-.7z',
  check: 'M4 12l5 5L20 6',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" aria-hidden="true">
      <path d={PATHS[name]} stroke-linecap="round" stroke-linejoin="round" />
    </svg>
  );
}

export interface NewButtonProps {
  readonly isMaking: Signal<boolean>;
  readonly children: ComponentChildren;
}

/** Opens the form for a new object. */
export function NewButton({ isMaking, children }: NewButtonProps) {
  return (
    <PrimaryButton onClick={setter(isMaking, true)}>
      <Icon name="plus" />
      {children}
    </PrimaryButton>
  );
}
