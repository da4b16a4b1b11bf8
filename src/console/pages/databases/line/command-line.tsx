/** stub */
import type { Database } from '../records.js';
export default function CommandLine(_: { readonly database: Database }) {
  return null;
}
