/** The head of every page: navigation path, title, state and actions. */
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';

export interface PageHeadProps {
  readonly title: string;
  /** The navigation path: addresses below `/console`, and their names. */
  readonly crumbs?: readonly (readonly [href: string, label: string])[];
  /** A state next to the title. */
  readonly badge?: ComponentChildren;
  readonly children?: ComponentChildren;
}

export function PageHead({ title, crumbs = [], badge, children }: PageHeadProps) {
  useEffect(() => {
    document.title = `${title} · Millrace`;
  }, [title]);
  return (
    <header class="page-head">
      <div>
        {crumbs.length > 0 && (
          <nav class="crumbs" aria-label="Where this is">
            {crumbs.map(([href, label]) => (
              <span key={href}>
                <a href={href}>{label}</a> /{' '}
              </span>
            ))}
          </nav>
        )}
        <div class="row">
          <h1 class="wrap-anywhere">{title}</h1>
          {badge}
        </div>
      </div>
      <div class="row">{children}</div>
    </header>
  );
}
