/** A sentence with code between backticks. */
export function CodeText({ text }: { readonly text: string }) {
  return <>{text.split('`').map((part, at) => (at % 2 === 0 ? part : <code key={at}>{part}</code>))}</>;
}
