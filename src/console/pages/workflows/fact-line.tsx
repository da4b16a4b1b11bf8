/** Facts in one line, each with its name. */
import type { ComponentChildren } from 'preact';

/** A fact without a value is left out. */
export type NamedFact = readonly [name: string, value: ComponentChildren];

export function FactLine({
  facts,
  isSmall = false,
}: {
  readonly facts: readonly NamedFact[];
  readonly isSmall?: boolean;
}) {
  return (
    <dl class={`flow-line ${isSmall ? 'small' : ''}`}>
      {facts
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}
