/** A score as a bar and as a number of three digits. */

export function ScoreBar({ value, label }: { readonly value: number; readonly label: string }) {
  return (
    <span class="search-bar" role="img" aria-label={`${label} ${shownScore(value)} of 1`}>
      <span style={{ width: `${Math.min(Math.max(value, 0), 1) * 100}%` }} />
    </span>
  );
}

export function shownScore(value: number): string {
  return String(Math.round(value * 1_000) / 1_000);
}
