/* The water of a world with rivers, as text. */
import { metres, quantity } from './world.js';

/* True if places of WORLD have water, or may have. */
export const hasWater = ({ fields }) => Boolean(fields?.water?.water && fields.river?.river && fields.bank?.bank);

const deep = (depth, digits) => `${metres(depth, digits)} deep`;

/* The water at a place, as /height has it, as text; null on land. WATER may be null. */
export function waterText(water) {
    if (!water?.kind)
        return null;
    const { water: level, depth, river: order, width, kind } = water;
    if (kind === 'river')
        return `River, ${metres(width, width < 10 ? 1 : 0)} wide, ${deep(depth, 1)}, of order ${quantity(order, 0)}, at ${metres(level)}`;
    return kind === 'lake' ? `Lake at ${metres(level)}, ${deep(depth)}` : `Sea, ${deep(depth)}`;
}
