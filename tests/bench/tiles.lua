-- For wrk: asks for the tiles of an area in turn, row by row, and for the first again after the last. With
-- a STRIDE that has no divisor in common with COUNT they come in steps of so many, each once.
--   wrk -s tiles.lua URL -- /world/layer/zoom FIRST_X FIRST_Y WIDTH COUNT [STRIDE]
local prefix, first_x, first_y, width, count, stride
local asked = 0
local ready = {}

local function tile(i)
    return wrk.format("GET", string.format("%s/%d/%d.png", prefix, first_x + i % width,
        first_y + math.floor(i / width)))
end

function init(args)
    prefix = args[1]
    first_x, first_y = tonumber(args[2]), tonumber(args[3])
    width, count = tonumber(args[4]), tonumber(args[5])
    stride = tonumber(args[6] or 1)
    -- So that little is asked of wrk itself where the same few come again and again.
    if count <= 10000 then
        for i = 0, count - 1 do
            ready[i] = tile(i)
        end
    end
end

function request()
    local i = asked * stride % count
    asked = asked + 1
    return ready[i] or tile(i)
end
