/** A result of the palette: a page to open, or an action to run. */
export interface Found {
  readonly label: string;
  readonly kind: string;
  /** The page to open. Undefined: an action runs instead. */
  readonly href?: string;
  /** The id of a database whose keys can be looked up. */
  readonly database?: string;
  run?(): unknown;
}
