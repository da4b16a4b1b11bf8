/** JSON Schemas from the classes whose rules validate the bodies. */
import { MAX, MIN } from 'class-validator';
import { targetConstructorToSchema } from 'class-validator-jsonschema';
import { DESCRIBED_RULES } from '../described-rule.js';
import { type ClassOf, fieldsOf } from '../request-class.js';
import { recordsIn, SCHEMA_PREFIX } from '../shapes.js';
import type { JsonSchema } from './parts.js';

/** Replaces the library's converters, which give every limit the type `number` even where another rule says integer. */
const CONVERTERS = {
  [MIN]: ({ constraints }: { constraints: unknown[] }) => ({ minimum: constraints[0] as number }),
  [MAX]: ({ constraints }: { constraints: unknown[] }) => ({ maximum: constraints[0] as number }),
};

export class Schemas {
  readonly #byName = new Map<string, JsonSchema>();

  /** A reference to the class's schema. It adds the schema, and those of all nested records. */
  referenceTo(type: ClassOf<object>): JsonSchema {
    if (!this.#byName.has(type.name)) {
      this.#byName.set(type.name, {});
      this.#byName.set(type.name, schemaOf(type));
      for (let each: unknown = type.prototype; each !== Object.prototype; each = Object.getPrototypeOf(each)) {
        for (const inner of recordsIn((each as { constructor: ClassOf<object> }).constructor)) this.referenceTo(inner);
      }
    }
    return { $ref: SCHEMA_PREFIX + type.name };
  }

  all(): Record<string, JsonSchema> {
    return Object.fromEntries([...this.#byName].sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

/** A class without fields stands for any object. */
export function schemaOf(type: ClassOf<object>): JsonSchema {
  if (fieldsOf(type).length === 0) return { type: 'object' };
  const ours = Object.fromEntries([...DESCRIBED_RULES].map((name) => [name, () => ({})]));
  const options = { refPointerPrefix: SCHEMA_PREFIX, additionalConverters: { ...CONVERTERS, ...ours } };
  return targetConstructorToSchema(type as new () => object, options) as JsonSchema;
}
