/** From what went wrong to what a client of the native protocol reads; the texts are those of error-map.ts. */
import { refusalOf } from '../error-map.js';
import type { RespFace } from './resp-face.js';

/** @returns what a client hears of a failure, having logged it */
export function failureText(face: RespFace, failure: unknown): string {
  return face.incidents.told(refusalOf(failure), failure).text;
}
