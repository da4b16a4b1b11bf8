/** Rules for answer fields that hold other records, and the point type of time series. */
import { IsArray, IsNumber, IsObject, IsString } from 'class-validator';
import { JSONSchema } from 'class-validator-jsonschema/build/decorators.js';
import type { ClassOf } from './request-class.js';

export const SCHEMA_PREFIX = '#/components/schemas/';

export function ListOf(type: ClassOf<object>): PropertyDecorator {
  return (target, key) => {
    IsArray()(target, key);
    JSONSchema({ type: 'array', items: { $ref: SCHEMA_PREFIX + type.name } })(target, key as string);
    needs(target, type);
  };
}

export function RecordOf(type: ClassOf<object>): PropertyDecorator {
  return (target, key) => {
    IsObject()(target, key);
    JSONSchema({ allOf: [{ $ref: SCHEMA_PREFIX + type.name }] })(target, key as string);
    needs(target, type);
  };
}

/** The text `true` or `false`. */
export function TextFlag(): PropertyDecorator {
  return (target, key) => {
    IsString()(target, key);
    JSONSchema({ enum: ['true', 'false'] })(target, key as string);
  };
}

const NEEDED = new WeakMap<object, Set<ClassOf<object>>>();

/** Record classes used in the fields of this class. */
export function recordsIn(type: ClassOf<object>): ReadonlySet<ClassOf<object>> {
  return NEEDED.get(type.prototype) ?? new Set();
}

function needs(target: object, type: ClassOf<object>): void {
  const known = NEEDED.get(target) ?? new Set();
  NEEDED.set(target, known.add(type));
}

/** `x` is a UTC time in Go's format: `2025-10-23 17:34:00.000 +0000 UTC`. */
export class Point {
  @IsString() readonly x!: string;
  @IsNumber() readonly y!: number;
}

export class NamedPoints {
  @IsString() readonly metric_identifier!: string;
  @ListOf(Point) readonly data_points!: readonly Point[];
}

export function textFlag(flag: boolean): 'true' | 'false' {
  return flag ? 'true' : 'false';
}

export function unixSeconds(atMs: number): number {
  return Math.floor(atMs / 1000);
}
